import { type Dump, type DumpedEvent, type DumpedRun, type History, isOver, positionOf } from './history.ts'

/** Which agents of the configuration execute one run at a time, and which are never executed twice. */
const LANE_AGENTS = ['lane']
const ONCE_AGENTS = ['ledger']

/** The promises about runs, each with its violations. */
export const judgeRuns = {
  'a run has one end, which is its last event': (_: History, { runs }: Dump) =>
    runs.flatMap(({ id, status, events }) => {
      const ends = events.filter(({ type }) => isEnd(type)).length
      const last = events.at(-1)?.type
      if (!isOver(status)) return [`the run ${id} is still ${status}`]
      return ends === 1 && last === `run.${status}` ? [] : [`the run ${id} (${status}): ${typesOf(events)}`]
    }),

  'positions increase': (_: History, { runs }: Dump) => {
    const violations: string[] = []
    const owners = new Map<string, string>()
    for (const { id, events } of runs) {
      for (const [index, { eventId }] of events.entries()) {
        const before = events[index - 1]?.eventId
        if (before !== undefined && positionOf(before) >= positionOf(eventId)) {
          violations.push(`the run ${id} has ${eventId} after ${before}`)
        }
        const owner = owners.get(eventId)
        if (owner !== undefined && owner !== id) violations.push(`the runs ${owner} and ${id} share ${eventId}`)
        owners.set(eventId, id)
      }
    }
    return violations
  },

  'one run at a time executes in a lane': (_: History, { runs }: Dump) =>
    LANE_AGENTS.flatMap((agentId) => {
      const executions = runs
        .filter(({ targetId }) => targetId === agentId)
        .flatMap(executionsOf)
        .toSorted((one, other) => one.from - other.from)
      return executions.flatMap((one, index) => {
        const before = executions[index - 1]
        if (before === undefined || before.to <= one.from) return []
        return [`${one.runId} starts at ${one.from}, before ${before.runId} ends at ${before.to}`]
      })
    }),

  'a step with a recorded result is not entered again': ({ ledger }: History, { runs }: Dump) => {
    const violations: string[] = []
    for (const [runId, lines] of Map.groupBy(ledger, ({ runId }) => runId)) {
      const second = lines.findIndex(({ what }) => what === 'second')
      const received = new Set(lines.flatMap(({ what, nonce }) => (what === 'second' ? [nonce] : [])))
      if (received.size > 1) violations.push(`the run ${runId} used several results of its first step`)
      for (const [index, { what, attempt }] of lines.entries()) {
        const isLater = second !== -1 && index > second && attempt >= (lines[second]?.attempt ?? 0)
        if (what === 'first' && isLater) violations.push(`the run ${runId} entered its first step again`)
      }
      for (const step of ['first', 'second']) {
        const attempts = lines.flatMap(({ what, attempt }) => (what === step ? [attempt] : []))
        if (new Set(attempts).size < attempts.length) {
          violations.push(`the run ${runId} entered its step ${step} in the attempts ${attempts}`)
        }
      }
    }
    for (const { id, events } of runs) {
      const ends = events.flatMap(({ type, payload }) => (type === 'step.end' ? [payload.seq] : []))
      if (new Set(ends).size < ends.length) violations.push(`the run ${id} ended the steps ${ends}`)
    }
    return violations
  },

  'an effect happens once': ({ ledger }: History, { runs }: Dump) => {
    const effects = Map.groupBy(
      ledger.filter(({ what }) => what === 'effect'),
      ({ runId }) => runId,
    )
    return runs.flatMap(({ id, targetId, status }) => {
      const attempts = (effects.get(id) ?? []).map(({ attempt }) => attempt)
      const isTwice = new Set(attempts).size < attempts.length
      const isFine = ONCE_AGENTS.includes(targetId)
        ? attempts.length === 1 || (attempts.length === 0 && status !== 'completed')
        : !isTwice
      const isMissing = targetId === 'again' && status === 'completed' && attempts.length === 0
      return isFine && !isMissing ? [] : [`the run ${id} (${status}) had effects in the attempts [${attempts}]`]
    })
  },

  'an occurrence fires once': (_: History, { fires, runs }: Dump) => {
    const violations = repeated(fires.map(({ scheduledAt }) => scheduledAt)).map((at) => `two fires at ${at}`)
    const scheduled = runs.flatMap(({ targetId, scheduledAt }) =>
      targetId === 'beat' && scheduledAt !== undefined ? [scheduledAt] : [],
    )
    violations.push(...repeated(scheduled).map((at) => `two runs for ${at}`))
    const runIds = new Set(runs.map(({ id }) => id))
    for (const { scheduledAt, runId } of fires) {
      if (runId !== undefined && !runIds.has(runId)) violations.push(`the run of ${scheduledAt} is missing`)
    }
    const seconds = fires.map(({ scheduledAt }) => Date.parse(scheduledAt)).toSorted((one, other) => one - other)
    for (const [index, at] of seconds.entries()) {
      const before = seconds[index - 1]
      if (before !== undefined && at - before > BEAT_MS) violations.push(`nothing fired between ${before} and ${at}`)
    }
    return violations
  },

  'an earlier attempt writes nothing after the next one starts': (_: History, { runs }: Dump) =>
    runs.flatMap(({ id, events }) => {
      let newest = 0
      return events.flatMap(({ eventId, payload: { attempt = newest } }) => {
        const isLate = attempt < newest
        newest = Math.max(newest, attempt)
        return isLate ? [`attempt ${attempt} of the run ${id} wrote ${eventId} during attempt ${newest}`] : []
      })
    }),

  'an earlier execution writes nothing after the run was resumed': (_: History, { runs }: Dump) =>
    runs.flatMap(({ id, events }) => {
      const earlier = new Set<string>()
      const own = new Set<string>()
      return events.flatMap(({ eventId, type, payload: { nonce } }) => {
        if (type === 'run.suspended') for (const one of own) earlier.add(one)
        if (nonce === undefined) return []
        own.add(nonce)
        return earlier.has(nonce) ? [`an earlier execution of the run ${id} wrote ${eventId}`] : []
      })
    }),
} satisfies Record<string, (history: History, dump: Dump) => readonly string[]>

/** The interval of the trigger `beat`. */
export const BEAT_MS = 1_000

const isEnd = (type: string): boolean => /^run\.(completed|failed|aborted)$/.test(type)

const typesOf = (events: readonly DumpedEvent[]): string => events.map(({ type }) => type).join(' ')

const repeated = (values: readonly string[]): readonly string[] =>
  values.filter((value, index) => values.indexOf(value) < index)

interface Execution {
  readonly runId: string
  readonly from: number
  readonly to: number
}

/** From each event that starts an execution to the event that ends it, by position. */
function executionsOf({ id, events }: DumpedRun): readonly Execution[] {
  const executions: Execution[] = []
  let from: number | undefined
  for (const { type, eventId } of events) {
    if (type === 'run.started' || type === 'run.resumed') from ??= positionOf(eventId)
    if (from === undefined || !(isEnd(type) || /^run\.(suspended|queued|retrying)$/.test(type))) continue
    executions.push({ runId: id, from, to: positionOf(eventId) })
    from = undefined
  }
  return executions
}
