/** How the plan or the result of `ipc release` looks: that of any command that writes, and when it is time. */
import { escapeText } from './escape.ts';
import { type PlanModel, planView } from './plan-view.ts';
import type { ReportView } from './view.ts';

export interface ReleaseModel extends PlanModel {
  /** RFC 3339. */
  readonly releaseAt: string;
  /** When it was done, RFC 3339; absent before. */
  readonly released?: string | undefined;
}

const plan = planView('release');

export const releaseView: ReportView<ReleaseModel> = {
  kind: 'release',
  json: (model) => ({ ...plan.json(model), releaseAt: model.releaseAt, released: model.released }),
  *text(model, paint) {
    yield* plan.text(model, paint);
    if (model.released === undefined) yield escapeText(`not before ${model.releaseAt}: --wait waits, --now does not`);
    else yield escapeText(`released ${model.released}`);
  },
};
