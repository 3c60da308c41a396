import type { RunKind } from '@perdure/ports'
import type { Runner } from './runner.ts'

/** Counts of the runs in this process. */
export interface RunLoad {
  readonly executing: Readonly<Record<RunKind, number>>
  readonly queued: number
}

export function readRunLoad({ live }: Pick<Runner, 'live'>): RunLoad {
  const executing = { agent: 0, workflow: 0 }
  let queued = 0
  for (const { slot, run } of live()) {
    if (slot.isGranted()) executing[run.kind]++
    else queued++
  }
  return { executing, queued }
}

/** The ids of the runs that hold a slot in this process. */
export const executingRunIds = ({ live }: Pick<Runner, 'live'>): readonly string[] =>
  live()
    .filter(({ slot }) => slot.isGranted())
    .map(({ run }) => run.id)
