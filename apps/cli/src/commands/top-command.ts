import { setTimeout } from 'node:timers/promises'
import type { Health, ListedRun } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { parseDuration } from '../flag-time.ts'
import { columnsText } from '../output/columns.ts'
import { type Paint, statusColour } from '../output/paint.ts'
import { durationText } from '../output/time-text.ts'
import { RUN_COLUMNS } from './runs-command.ts'
import { stopOnInterrupt } from './stop-on-interrupt.ts'

export interface TopFlags {
  readonly interval: string
  readonly once?: boolean
}

interface Snapshot {
  readonly health: InferOutput<typeof Health>
  readonly runs: readonly InferOutput<typeof ListedRun>[]
}

const SHOWN_RUNS = 15
const CLEAR = '\u001b[H\u001b[2J'

/** Refreshes on a terminal; anywhere else it prints once. */
export async function topCommand(call: Call, { interval, once }: TopFlags): Promise<void> {
  const { stdout } = call.terminal
  const intervalMs = parseDuration('interval', interval)
  if (once || call.out.isJson || stdout.isTTY !== true) {
    const snapshot = await take(call)
    call.out.document(snapshot, (paint) => textOf(snapshot, paint))
    return
  }
  await stopOnInterrupt(call, async (signal) => {
    while (!signal.aborted) {
      const text = textOf(await take(call), call.out.paint, stdout.columns)
      stdout.write(`${CLEAR}${text}`)
      await pause(intervalMs, signal)
    }
  })
}

async function take(call: Call): Promise<Snapshot> {
  const { health, runs } = call.client()
  const [document, recent] = await Promise.all([health.get(), runs.list({ limit: SHOWN_RUNS })])
  return { health: document, runs: recent.items }
}

function textOf({ health, runs }: Snapshot, paint: Paint, width?: number): string {
  const { storage, consolidator, triggers } = health.checks
  const facts = [
    `up ${durationText(health.uptimeSeconds * 1_000)}`,
    `database ${mebibytes(storage.dbBytes)}`,
    `log ${mebibytes(storage.walBytes)}`,
    `triggers ${triggers.active}`,
    `jobs ${consolidator.queueDepth}`,
  ]
  const head = `${paint(statusColour(health.status) ?? 'bold', health.status)}  ${facts.join('  ')}`
  return `${head}\n\n${columnsText(runs, RUN_COLUMNS, { paint, width })}`
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

const pause = (ms: number, signal: AbortSignal) => setTimeout(ms, undefined, { signal }).catch(() => undefined)
