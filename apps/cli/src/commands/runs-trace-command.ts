import type { Call } from '../call.ts'
import { oneLine } from '../output/columns.ts'
import { statusColour } from '../output/paint.ts'
import { durationText } from '../output/time-text.ts'
import { buildTrace, type TraceLine } from './build-trace.ts'

const BAR_WIDTH = 40

export async function runsTraceCommand(call: Call, { run: id }: { readonly run: string }): Promise<void> {
  const { runs } = call.client()
  const run = await runs.get(id)
  const events = await runs.events(id, { limit: 200 }).all()
  const trace = buildTrace(run, events, Date.now())
  const width = Math.max(...trace.lines.map(({ name, depth }) => name.length + 2 * depth))
  call.out.document(trace, (paint) =>
    trace.lines
      .map((line) => {
        const name = `${'  '.repeat(line.depth)}${oneLine(line.name)}`.padEnd(width)
        const colour = statusColour(line.status ?? '') ?? 'cyan'
        return `${name}  ${paint(colour, barOf(line, trace.durationMs))}  ${durationText(line.durationMs)}\n`
      })
      .join(''),
  )
}

/** A bar that shows when a line of the trace starts within the run and how long it lasts; never empty. */
function barOf({ startMs, durationMs }: TraceLine, totalMs: number): string {
  const scale = totalMs === 0 ? 0 : BAR_WIDTH / totalMs
  const start = Math.min(BAR_WIDTH - 1, Math.floor(startMs * scale))
  const length = Math.min(BAR_WIDTH - start, Math.round(durationMs * scale))
  return `${' '.repeat(start)}${length < 1 ? '▏' : '█'.repeat(length)}`.padEnd(BAR_WIDTH)
}
