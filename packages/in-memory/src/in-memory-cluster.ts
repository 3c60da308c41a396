import {
  type Clock,
  type Cluster,
  type ClusterTarget,
  DUTIES,
  type Duty,
  EVERY_ROW,
  leaseLost,
  MAX_CLOCK_SKEW_MS,
  type RunLine,
  type RunRecord,
  type Storage,
} from '@perdure/ports'

export interface InMemoryClusterOptions {
  readonly storage: Storage
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly leaseMs?: number | undefined
}

/** A process of an in-memory cluster. */
export interface InMemoryMember {
  readonly cluster: Cluster & { readonly executor: string }
  /** The shared storage; refuses the commits of a process that was removed. */
  readonly storage: Storage
  /** Renews the lease, removes members whose lease has expired, and takes free duties. */
  beat(): void
  /** Sets by how much the clock of the process is ahead of that of the storage. */
  setClockSkew(ms: number): void
  leave(): void
}

interface Seat {
  readonly executor: string
  leaseUntilMs: number
  isRetired: boolean
  clockSkewMs: number
}

/** The reference adapter of `Cluster`: processes in one memory. Nothing happens between the calls of `beat`. */
export function createInMemoryCluster({ storage, clock, leaseMs = 6_000 }: InMemoryClusterOptions) {
  const seats = new Map<string, Seat>()
  const departed = new Map<string, number>()
  const duties = new Map<Duty, string>()
  const claims = new Map<string, string>()
  let joined = 0

  const remove = (executor: string) => {
    if (!seats.delete(executor)) return
    departed.set(executor, clock.monotonicMs())
    release(executor)
  }
  const release = (executor: string) => {
    for (const [duty, holder] of duties) if (holder === executor) duties.delete(duty)
    for (const [runId, holder] of claims) if (holder === executor) claims.delete(runId)
  }
  const reap = (now: number) => {
    for (const { executor, leaseUntilMs } of [...seats.values()]) if (leaseUntilMs <= now) remove(executor)
  }
  const takeDuties = (executor: string) => {
    for (const duty of DUTIES) if (!duties.has(duty)) duties.set(duty, executor)
  }
  const isReserved = (runId: string) => seats.has(claims.get(runId) ?? '')

  const queuedRuns = async ({ targets, now }: Pick<RunLine, 'targets' | 'now'>): Promise<readonly RunRecord[]> => {
    const { items } = await storage.runs.list({ statuses: ['queued'] }, { limit: 1_000_000, order: 'asc' }, EVERY_ROW)
    return items
      .filter((run) => (run.startAt ?? 0) <= now && targets.some((target) => isOf(run, target)))
      .toSorted((one, other) => rankOf(one) - rankOf(other))
  }

  return {
    join(): InMemoryMember {
      const executor = `process-${++joined}`
      const seat: Seat = { executor, leaseUntilMs: clock.monotonicMs() + leaseMs, isRetired: false, clockSkewMs: 0 }
      seats.set(executor, seat)
      const hasRightClock = () => Math.abs(seat.clockSkewMs) <= MAX_CLOCK_SKEW_MS
      const isSeated = () => seats.get(executor) === seat
      const hasLease = () => isSeated() && clock.monotonicMs() < seat.leaseUntilMs

      return {
        storage: {
          ...storage,
          unitOfWork: {
            async commit(writes) {
              if (!isSeated()) throw leaseLost()
              return storage.unitOfWork.commit(writes)
            },
          },
        },
        cluster: {
          executor,
          hasLease,
          clockSkewMs: () => seat.clockSkewMs,
          isMine: (duty) => duties.get(duty) === executor && hasLease() && hasRightClock(),
          async claim({ limit, held, ...query }) {
            const queued = await queuedRuns(query)
            if (seat.isRetired || !hasLease() || !hasRightClock()) return []
            const isLost = (id: string) => claims.get(id) === executor && held?.includes(id) === false
            const free = queued.filter(({ id }) => !isReserved(id) || isLost(id)).slice(0, limit)
            for (const { id } of free) claims.set(id, executor)
            return free
          },
          async firstInLine(line) {
            return (await queuedRuns(line)).find((run) => isInLine(run, line))
          },
          departed: async () =>
            [...departed].map(([gone, atMs]) => ({ executor: gone, departedMs: clock.monotonicMs() - atMs })),
          dismiss: async (gone) => void departed.delete(gone),
          async retire() {
            seat.isRetired = true
            release(executor)
          },
        },
        beat() {
          if (!isSeated()) return
          const now = clock.monotonicMs()
          seat.leaseUntilMs = now + leaseMs
          reap(now)
          if (hasRightClock()) {
            if (!seat.isRetired) takeDuties(executor)
          } else release(executor)
        },
        setClockSkew(ms) {
          seat.clockSkewMs = ms
        },
        leave: () => remove(executor),
      }
    },
  }
}

const isOf = ({ kind, targetId, version }: RunRecord, target: ClusterTarget): boolean =>
  kind === target.kind && targetId === target.id && version === target.version

const isInLine = (run: RunRecord, { owner, sessionId, concurrencyKey, rateKey }: RunLine): boolean =>
  run.owner === owner &&
  (sessionId ?? run.sessionId) === run.sessionId &&
  (concurrencyKey ?? run.flow?.concurrency) === run.flow?.concurrency &&
  (rateKey ?? run.flow?.rate) === run.flow?.rate

const MS_PER_PRIORITY = 10_000

const rankOf = ({ startAt, createdAt, priority = 0 }: RunRecord): number =>
  (startAt ?? createdAt) - priority * MS_PER_PRIORITY
