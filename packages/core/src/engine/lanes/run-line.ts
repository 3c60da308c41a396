import type { Cluster, ClusterTarget, EpochMs, RunLine, RunRecord } from '@perdure/ports'
import type { RunTarget } from '../../targets/run-target.ts'
import type { TargetRegistry } from '../../targets/target-registry.ts'
import { concurrencyLane, rateLane } from './lane.ts'

type Registry = Pick<TargetRegistry<never>, 'list' | 'versions'>

/** The code that this process has: each version, and for each id the runs without a version. */
export const clusterTargets = (registries: readonly Registry[]): readonly ClusterTarget[] =>
  registries.flatMap((registry) => registry.list().flatMap(({ id }) => targetsOfId(registry.versions(id))))

const targetsOfId = (versions: readonly RunTarget[]): readonly ClusterTarget[] =>
  versions.flatMap(({ kind, id, version }, index) => [
    { kind, id, version },
    ...(index === 0 && version !== undefined ? [{ kind, id }] : []),
  ])

/** The line in which a run waits for the slots of its lanes; `undefined` if it needs none. */
function lineOf(target: RunTarget, run: RunRecord): Omit<RunLine, 'targets' | 'now'> | undefined {
  const concurrency = concurrencyLane(target, run)
  const rate = run.startedAt === undefined ? rateLane(target, run) : undefined
  if (concurrency === undefined && rate === undefined) return undefined
  const isKeyed = typeof target.concurrency === 'object' && target.concurrency.key !== undefined
  return {
    owner: run.owner,
    sessionId: target.concurrency === 'session' ? run.sessionId : undefined,
    concurrencyKey: isKeyed ? run.flow?.concurrency : undefined,
    rateKey: target.rateLimit?.key === undefined ? undefined : run.flow?.rate,
  }
}

/** The queued runs of all processes, in lines. */
export interface RunLines {
  /** The queued run that goes before this one, whichever process has accepted it; `undefined` if none does. */
  ahead(target: RunTarget, run: RunRecord): Promise<RunRecord | undefined>
}

export const createRunLines = (
  cluster: Pick<Cluster, 'firstInLine'>,
  { targets, now }: { readonly targets: () => readonly ClusterTarget[]; readonly now: () => EpochMs },
): RunLines => ({
  async ahead(target, run) {
    const line = lineOf(target, run)
    if (line === undefined) return undefined
    const ofTarget = targets().filter(({ kind, id }) => kind === target.kind && id === target.id)
    const first = await cluster.firstInLine({ ...line, targets: ofTarget, now: now() })
    return first?.id === run.id ? undefined : first
  },
})

/** Since when a stored run waits. */
export const queuedSince = ({ startAt, createdAt }: Pick<RunRecord, 'startAt' | 'createdAt'>): EpochMs =>
  startAt ?? createdAt
