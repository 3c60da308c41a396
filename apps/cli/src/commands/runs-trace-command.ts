import type { Call } from '../call.ts'
import { oneLine } from '../output/columns.ts'
import { statusColour } from '../output/paint.ts'
import { durationText } from '../output/time-text.ts'
import { buildTrace, type TraceLine } from './build-trace.ts'

const BAR_WIDTH = 40
const TOOK_WIDTH = 8

export async function runsTraceCommand(call: Call, { run: id }: { readonly run: string }): Promise<void> {
  const { runs } = call.client()
  const run = await runs.get(id)
  const events = await runs.events(id, { limit: 200 }).all()
  const trace = buildTrace(run, events, Date.now())
  const names = trace.lines.map(({ name, depth }) => `${'  '.repeat(depth)}${oneLine(name)}`)
  const [nameWidth, kindWidth] = [widest(['NAME', ...names]), widest(['KIND', ...trace.lines.map(({ kind }) => kind)])]
  call.out.document(trace, (paint) => {
    const head = `${'NAME'.padEnd(nameWidth)}  ${'KIND'.padEnd(kindWidth)}  ${''.padEnd(BAR_WIDTH)}  ${'TOOK'.padEnd(TOOK_WIDTH)}  ERROR`
    const lines = trace.lines.map((line, at) => {
      const colour = statusColour(line.status ?? '') ?? 'cyan'
      const bar = paint(colour, barOf(line, trace.durationMs))
      const error = line.error === undefined ? '' : paint('red', oneLine(line.error))
      const took = durationText(line.durationMs).padEnd(TOOK_WIDTH)
      return `${names[at]?.padEnd(nameWidth)}  ${line.kind.padEnd(kindWidth)}  ${bar}  ${took}  ${error}`.trimEnd()
    })
    return `${[paint('bold', head), ...lines].join('\n')}\n`
  })
}

const widest = (texts: readonly string[]): number => Math.max(...texts.map(({ length }) => length))

/** A bar that shows when a line of the trace starts within the run and how long it lasts; never empty. */
function barOf({ startMs, durationMs }: TraceLine, totalMs: number): string {
  const scale = totalMs === 0 ? 0 : BAR_WIDTH / totalMs
  const start = Math.min(BAR_WIDTH - 1, Math.floor(startMs * scale))
  const length = Math.min(BAR_WIDTH - start, Math.round(durationMs * scale))
  return `${' '.repeat(start)}${length < 1 ? '▏' : '█'.repeat(length)}`.padEnd(BAR_WIDTH)
}
