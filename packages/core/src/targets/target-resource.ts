import type { Page, PageQuery } from '@perdure/ports'
import { pageByName } from '../collections/page-by-name.ts'
import type { DescribeSchema } from './describe-schema.ts'
import { concurrencyResource, debounceResource, rateLimitResource } from './flow-resource.ts'
import type { RunTarget } from './run-target.ts'
import { scoringAgentId } from './scoring-options.ts'

interface Targets {
  list(): readonly RunTarget[]
  versions(id: string): readonly RunTarget[]
}

/** The default version of an agent or workflow as the API shows it, with the names of all versions. */
const toTargetResource = (targets: Targets, target: RunTarget) => {
  const {
    id,
    description,
    concurrency,
    onBusy,
    onBusyChoices,
    rateLimit,
    debounce,
    onCrash,
    recoveries,
    retries,
    timeoutMs,
    tags,
    scoring,
  } = target
  const all = targets.versions(id).map(({ version = null }) => version)
  const versions = all.some((version) => version !== null) ? all : undefined
  return {
    ...{ id, description, versions },
    concurrency: concurrencyResource(concurrency),
    onBusy,
    onBusyChoices: onBusyChoices.length > 1 ? [...onBusyChoices] : undefined,
    rateLimit: rateLimit && rateLimitResource(rateLimit),
    debounce: debounce && debounceResource(debounce),
    ...{ onCrash, recoveries, retries: retries.max, timeoutMs, tags: [...tags] },
    scoring: scoring && {
      ...{ agentId: scoringAgentId(id), sample: scoring.sample },
      scorers: scoring.use.map(({ name }) => name),
    },
  }
}

export type TargetResource = ReturnType<typeof toTargetResource>

/** The resource of one agent or workflow, with the JSON Schema of its input and output where a library offers it. */
export const toDescribedTarget = (targets: Targets, target: RunTarget, describeSchema: DescribeSchema) => ({
  ...toTargetResource(targets, target),
  inputSchema: describeSchema(target.input, 'input'),
  outputSchema: describeSchema(target.output, 'output'),
})

export type DescribedTarget = ReturnType<typeof toDescribedTarget>

/**
 * A page of registered agents or workflows, ordered by id. Its size counts the resources: a schema can refer to itself,
 * so the registrations have no size.
 */
export function pageOfTargets(targets: Targets, page: PageQuery): Page<TargetResource> {
  const resources = targets.list().map((target) => toTargetResource(targets, target))
  return pageByName(resources, ({ id }) => id, page)
}
