import type { Call } from '../call.ts'
import { EXIT_CODES } from '../exit-codes.ts'

/**
 * Follows a run. The first Ctrl-C cancels the run and keeps following until it ends; the second stops following. Either
 * way the exit code is 130.
 * @returns the result of `follow`; `undefined` after the second Ctrl-C
 */
export async function cancelOnInterrupt<Result>(
  call: Call,
  runId: string,
  follow: () => Promise<Result>,
): Promise<Followed<Result> | undefined> {
  let isInterrupted = false
  const detached = waitForInterrupts(call, runId, () => {
    isInterrupted = true
  })
  const ended = await Promise.race([follow().then((result) => ({ result })), detached])
  return ended === undefined ? undefined : { ...ended, isInterrupted }
}

export interface Followed<Result> {
  readonly result: Result
  /** Whether Ctrl-C cancelled the run. If so, the exit code is already set. */
  readonly isInterrupted: boolean
}

async function waitForInterrupts(call: Call, runId: string, onFirst: () => void): Promise<undefined> {
  const interruptions = call.terminal.watchInterruptions(() => false)
  const first = await interruptions.next()
  if (first.type === 'crash') throw first.error
  onFirst()
  call.finish(EXIT_CODES.interrupted.code)
  call.out.note(`cancelling ${runId}; press Ctrl-C again to stop waiting for it`)
  const cancelled = call.client().runs.abort(runId, { reason: 'interrupted' })
  // Not fatal: the run may just have ended.
  cancelled.catch((error: unknown) =>
    call.out.note(`cancelling failed: ${error instanceof Error ? error.message : error}`),
  )
  const second = await interruptions.next()
  if (second.type === 'crash') throw second.error
  call.out.note(`stopped waiting for ${runId}`)
}
