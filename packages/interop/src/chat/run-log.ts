import { type RenderEnvelope, runSubject } from '@perdure/core'
import { type EventLog, fromJsonText, type ListedRun, type RunRecord } from '@perdure/ports'
import type { LogEvent } from '../fold/log-event.ts'

export interface RunLogDeps {
  readonly events: EventLog
  readonly render: RenderEnvelope
}

const PAGE = 500

/** The events of a run as the API delivers them. */
export async function* eventsOf({ events, render }: RunLogDeps, run: ListedRun): AsyncGenerator<LogEvent> {
  const { epoch } = await events.head()
  const subject = runSubject(run as RunRecord)
  for (let after = 0; ; ) {
    const page = await events.read({ runId: run.id }, { after, limit: PAGE })
    for (const event of page) yield fromJsonText(render(event, { subject, epoch, isRepeat: true })) as LogEvent
    const last = page.at(-1)
    if (last === undefined) return
    after = last.position
  }
}

export async function readLog(deps: RunLogDeps, run: ListedRun): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = []
  for await (const event of eventsOf(deps, run)) events.push(event)
  return events
}
