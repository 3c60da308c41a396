import type { Principal, RunTarget } from '@perdure/core'
import { perdureError, type RunRecord } from '@perdure/ports'
import { targetName } from '@perdure/protocol'
import { isOffered } from '../chat/offered-agent.ts'
import { mayStart } from '../chat/rights.ts'

/** An agent or a workflow. */
export interface ModelTarget extends Pick<RunRecord, 'kind' | 'id'>, Pick<RunTarget, 'protocols'> {}

/** Agents and workflows as models. */
export interface Models {
  list(principal: Principal): Promise<object>
  /** @throws PerdureError `agent-not-found`, also for a model that the caller may not use */
  get(principal: Principal, model: string): Promise<object>
}

export function createModels({ registered }: { readonly registered: () => readonly ModelTarget[] }): Models {
  const usable = (principal: Principal) =>
    registered().filter((target) => isOffered(target, 'openai') && mayStart(principal, target))
  return {
    async list(principal) {
      const data = usable(principal).map(toModel)
      return { object: 'list', data }
    },
    async get(principal, model) {
      const target = usable(principal).find((one) => targetName(one) === model)
      if (target === undefined) throw perdureError('agent-not-found')
      return toModel(target)
    },
  }
}

const toModel = (target: ModelTarget) => ({ id: targetName(target), object: 'model', created: 0, owned_by: 'perdure' })
