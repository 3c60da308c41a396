/** Work on one run at a time. */
export type InTurn = <T>(runId: string, work: () => Promise<T>) => Promise<T>

/**
 * Makes decisions on one run follow one another: of those that a suspended run needs, exactly one is then the last. The
 * process owns its storage, so memory is enough.
 */
export function createTurns(): InTurn {
  const queues = new Map<string, Promise<unknown>>()

  return (runId, work) => {
    const turn = (queues.get(runId) ?? Promise.resolve()).then(work, work)
    queues.set(runId, turn)
    const leave = () => {
      if (queues.get(runId) === turn) queues.delete(runId)
    }
    turn.then(leave, leave)
    return turn
  }
}
