import {
  type CommitOutcome,
  type CommitSignal,
  type EpochMs,
  type NewEvent,
  type StoredEvent,
  signalsOf,
  type TailedEvent,
  toJsonText,
  type Write,
} from '@perdure/ports'

/** The types of events that are signals. No event of a stream has such a type. */
const PREFIX = '~'
const TYPES: ReadonlySet<string> = new Set<CommitSignal['type']>(['tokens', 'deleted', 'triggers', 'due', 'start'])

/** The time of a signal is in its type, because the tail does not read the payloads of such events. */
const toEvent =
  (at: EpochMs) =>
  (signal: CommitSignal): NewEvent => ({
    type: `${PREFIX}${signal.type}${'at' in signal ? ` ${signal.at}` : ''}`,
    payload: toJsonText(null),
    at,
  })

/** The writes of a commit with its signals, as events that belong to no stream. */
export function withSignals(writes: readonly Write[], at: EpochMs): readonly Write[] {
  const signals = signalsOf(writes)
  return signals.length === 0 ? writes : [...writes, { type: 'event.append', events: signals.map(toEvent(at)) }]
}

/** The outcome of these writes, without the signals that `withSignals` has added. */
export function withoutSignals(outcome: CommitOutcome, writes: readonly Write[]): CommitOutcome {
  if (!outcome.committed || outcome.counts.length === writes.length) return outcome
  const isOwn = ({ type }: StoredEvent) => !type.startsWith(PREFIX)
  return { committed: true, events: outcome.events.filter(isOwn), counts: outcome.counts.slice(0, writes.length) }
}

/** Reads the signal from an event of the log; `undefined` for any other event, and for a type of a newer version. */
export function signalOf({ type }: Pick<TailedEvent, 'type'>): CommitSignal | undefined {
  if (!type.startsWith(PREFIX)) return undefined
  const [name = '', at] = type.slice(PREFIX.length).split(' ')
  if (!TYPES.has(name)) return undefined
  return (at === undefined ? { type: name } : { type: name, at: Number(at) }) as CommitSignal
}
