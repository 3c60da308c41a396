import { EVERY_ROW, fromJsonText, type RunStore, type StoredEvent, toJsonText } from '@perdure/ports'

/** Adds to recorded events what only raw replays show. */
export type CompleteEvents = (events: readonly StoredEvent[]) => Promise<readonly StoredEvent[]>

/** Adds the stack to the error of each `run.failed`. It is stored with the run and not in the event log. */
export const createStackReader =
  (runs: RunStore): CompleteEvents =>
  (events) =>
    Promise.all(events.map((event) => (event.type === 'run.failed' ? withStack(runs, event) : event)))

async function withStack(runs: RunStore, event: StoredEvent): Promise<StoredEvent> {
  const run = event.runId === undefined ? undefined : await runs.find(event.runId, EVERY_ROW)
  const stack = run?.error?.stack
  if (stack === undefined) return event
  const payload = fromJsonText(event.payload) as { readonly error?: object }
  return { ...event, payload: toJsonText({ ...payload, error: { ...payload.error, stack } }) }
}
