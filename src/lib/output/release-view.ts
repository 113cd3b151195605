/** How the plan or the result of `ipc release` looks: that of any command that writes, what is freed, and when it is time. */
import { escapeText } from './escape.ts';
import { type PlanModel, planView } from './plan-view.ts';
import type { ReportView } from './view.ts';

export interface ReleaseModel extends PlanModel {
  readonly freed: readonly FreedNumber[];
  /** RFC 3339. */
  readonly releaseAt: string;
  /** When it was done, RFC 3339; absent before. */
  readonly released?: string | undefined;
}

/** A number that nothing has any more, and that may mean something else from then on. */
export interface FreedNumber {
  readonly identity: number;
  /** In how many policy maps it stands; null: they could not all be read. */
  readonly policyMaps: number | null;
}

const plan = planView('release');

export const releaseView: ReportView<ReleaseModel> = {
  kind: 'release',
  json: (model) => ({
    ...plan.json(model),
    freed: model.freed,
    releaseAt: model.releaseAt,
    released: model.released,
  }),
  *text(model, paint) {
    const { released, releaseAt } = model;
    yield* plan.text({ ...model, dryRun: model.dryRun || released === undefined }, paint);
    if (released === undefined) yield escapeText(`not before ${releaseAt}: --wait waits, --now does not`);
    else yield escapeText(`released ${released}`);
  },
};
