import { createMutex } from '../concurrency/mutex.ts'

/** The exclusive right of one event to resolve many waits. */
export interface EmissionTurn {
  /** Resolves when no earlier turn is held; at once if this turn is held already. */
  take(eventName: string): Promise<void>
  /** Ends the turn. A no-op if it was not taken. */
  end(): void
}

/**
 * Lets events with many waits take turns, from the plan to the end of the delivery: a wait counts as open until it is
 * resolved, so concurrent events would each plan to resolve all of them. There is one order for all names, because one
 * commit may emit several events.
 */
export interface EmissionTurns {
  begin(): EmissionTurn
  /** Whether an event of this name holds a turn or waits for one. */
  isTaken(eventName: string): boolean
}

export function createEmissionTurns(): EmissionTurns {
  const mutex = createMutex()
  const names = new Map<string, number>()

  const count = (name: string, change: number) => {
    const sum = (names.get(name) ?? 0) + change
    if (sum === 0) names.delete(name)
    else names.set(name, sum)
  }

  return {
    begin() {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      let granted: Promise<void> | undefined
      return {
        take(name) {
          if (granted !== undefined) return granted
          count(name, 1)
          void ended.then(() => count(name, -1))
          granted = new Promise((grant) => {
            void mutex(() => {
              grant()
              return ended
            })
          })
          return granted
        },
        end,
      }
    },
    isTaken: (name) => names.has(name),
  }
}
