/** Runs work one at a time, in the order of the calls. A failure rejects its own call only. */
export type Mutex = <T>(work: () => Promise<T>) => Promise<T>

/** Like `Mutex`, but only calls with the same key exclude one another. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
}

export function createKeyedMutex(): KeyedMutex {
  const queues = new Map<string, Promise<unknown>>()

  return (key, work) => {
    const turn = (queues.get(key) ?? Promise.resolve()).then(work, work)
    queues.set(key, turn)
    const release = () => {
      if (queues.get(key) === turn) queues.delete(key)
    }
    turn.then(release, release)
    return turn
  }
}
