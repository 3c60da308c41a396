import type { Event } from '@perdure/client'
import { LOG_LEVELS, type LogLevel, type RunLogLine } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { logLineText } from '../output/event-text.ts'
import { stopOnInterrupt } from './stop-on-interrupt.ts'

export interface RunsLogsFlags {
  readonly run: string
  readonly level?: LogLevel
  readonly follow?: boolean
}

type LogLine = InferOutput<typeof RunLogLine>

export async function runsLogsCommand(call: Call, { run, level, follow }: RunsLogsFlags): Promise<void> {
  const show = (line: LogLine) => call.out.item(line, (paint) => logLineText(line, paint))
  if (follow) return followLogs(call, { run, level }, show)
  for await (const line of call.client().runs.logs(run, { limit: 200, level })) show(line)
}

/** Shows the lines of a run until the run ends. */
async function followLogs(
  call: Call,
  { run, level = 'debug' }: Pick<RunsLogsFlags, 'run' | 'level'>,
  show: (line: LogLine) => void,
): Promise<void> {
  const client = call.client()
  const { subject } = await client.runs.state(run)
  const shown = LOG_LEVELS.slice(LOG_LEVELS.indexOf(level))
  await stopOnInterrupt(call, async (signal) => {
    for await (const item of client.subscribe(subject, { transport: 'sse', signal })) {
      if (item.type === 'gap') call.out.note(`events are missing after ${item.lastEventId}`)
      else if (item.event.type === 'run.log') {
        const line = lineOf(item.event)
        if (shown.includes(line.level)) show(line)
      }
    }
  })
}

function lineOf({ eventId, at, payload }: Event): LogLine {
  const { runId: _, ...line } = payload as { readonly runId: string } & Omit<LogLine, 'eventId' | 'at'>
  return { eventId, at, ...line }
}
