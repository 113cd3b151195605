/** Numbers 100 to 115: fixed for the labels of a few cluster components (Cilium 1.21, InitWellKnownIdentities). */

export interface WellKnownSettings {
  /** Namespace of the cilium-agent's own components, usually `kube-system`. */
  readonly ciliumNamespace: string;
  /** Name of the local cluster, usually `default`. */
  readonly clusterName: string;
}

interface Component {
  readonly name: string;
  /** Two numbers: with and without the label of the namespace's name, which Kubernetes has added since 1.21. */
  readonly ids: readonly [number, number];
  readonly meaning: string;
  readonly serviceAccount: string;
  /** Absent: kube-system, wherever Cilium itself runs. */
  readonly ownNamespace?: true;
  readonly labels: readonly string[];
}

const COMPONENTS: readonly Component[] = [
  {
    name: 'etcd-operator',
    ids: [100, 108],
    meaning: 'the operator of an etcd that Cilium runs for itself',
    serviceAccount: 'cilium-etcd-sa',
    ownNamespace: true,
    labels: ['io.cilium/app=etcd-operator'],
  },
  {
    name: 'cilium-kvstore',
    ids: [101, 109],
    meaning: 'the etcd that Cilium runs for itself',
    serviceAccount: 'default',
    ownNamespace: true,
    labels: ['app=etcd', 'etcd_cluster=cilium-etcd', 'io.cilium/app=etcd-operator'],
  },
  {
    name: 'kube-dns',
    ids: [102, 110],
    meaning: 'the kube-dns of the cluster',
    serviceAccount: 'kube-dns',
    labels: ['k8s-app=kube-dns'],
  },
  {
    name: 'eks-kube-dns',
    ids: [103, 111],
    meaning: 'the kube-dns of an EKS cluster',
    serviceAccount: 'kube-dns',
    labels: ['k8s-app=kube-dns', 'eks.amazonaws.com/component=kube-dns'],
  },
  {
    name: 'coredns',
    ids: [104, 112],
    meaning: 'the CoreDNS of the cluster',
    serviceAccount: 'coredns',
    labels: ['k8s-app=kube-dns'],
  },
  {
    name: 'cilium-operator',
    ids: [105, 113],
    meaning: "Cilium's operator",
    serviceAccount: 'cilium-operator',
    ownNamespace: true,
    labels: [
      'name=cilium-operator',
      'io.cilium/app=operator',
      'app.kubernetes.io/part-of=cilium',
      'app.kubernetes.io/name=cilium-operator',
    ],
  },
  {
    name: 'eks-coredns',
    ids: [106, 114],
    meaning: 'the CoreDNS of an EKS cluster',
    serviceAccount: 'coredns',
    labels: ['k8s-app=kube-dns', 'eks.amazonaws.com/component=coredns'],
  },
  {
    name: 'cilium-etcd-operator',
    ids: [107, 115],
    meaning: "Cilium's own operator for etcd",
    serviceAccount: 'cilium-etcd-operator',
    ownNamespace: true,
    // Two of them really are keys with a colon and a blank in them: upstream wrote them so and matches them so.
    labels: [
      'name=cilium-etcd-operator',
      'io.cilium/app=etcd-operator',
      'app.kubernetes.io/name: cilium-etcd-operator',
      'app.kubernetes.io/part-of: cilium',
    ],
  },
];

const NAMESPACE = 'k8s:io.kubernetes.pod.namespace';
const NAMESPACE_NAME = 'k8s:io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name';
const SERVICE_ACCOUNT = 'k8s:io.cilium.k8s.policy.serviceaccount';
const CLUSTER = 'k8s:io.cilium.k8s.policy.cluster';

/** Number and label texts of every well-known identity. */
export function wellKnownIdentities(settings: WellKnownSettings): { id: number; labels: string[] }[] {
  return COMPONENTS.flatMap((component) => {
    const namespace = component.ownNamespace ? settings.ciliumNamespace : 'kube-system';
    const labels = [
      ...component.labels.map((label) => `k8s:${label}`),
      `${NAMESPACE}=${namespace}`,
      `${SERVICE_ACCOUNT}=${component.serviceAccount}`,
      `${CLUSTER}=${settings.clusterName}`,
    ];
    return [
      { id: component.ids[0], labels },
      { id: component.ids[1], labels: [...labels, `${NAMESPACE_NAME}=${namespace}`] },
    ];
  });
}

/** Name and meaning of a number from 100 to 115. */
export function wellKnownComponent(id: number): { readonly name: string; readonly meaning: string } | undefined {
  return COMPONENTS.find(({ ids }) => ids.includes(id));
}

/** The two numbers of a component's name. */
export function wellKnownByName(name: string): readonly [number, number] | undefined {
  return COMPONENTS.find((component) => component.name === name)?.ids;
}
