import { type LogFollower, type Storage, signalsOf, type TailedCommits } from '@perdure/ports'

const NO_LAG = { isCurrent: true, lagMs: 0, isListening: true }

/**
 * Several processes in one: each call returns the same storage as another process sees it. The reference adapter of
 * `LogTail`.
 */
export function shareInMemoryStorage(storage: Storage): () => Storage {
  const processes: Process[] = []

  return () => {
    const own = createProcess()
    processes.push(own)
    return {
      ...storage,
      unitOfWork: {
        async commit(writes) {
          const outcome = await storage.unitOfWork.commit(writes)
          if (!outcome.committed) return outcome
          const { events } = outcome
          const signals = signalsOf(writes)
          own.receive({ events, foreign: [], signals: [] })
          for (const other of processes) if (other !== own) other.receiveLater({ events, foreign: events, signals })
          return outcome
        },
      },
      tail: { follow: own.follow, state: () => NO_LAG },
      close: async () => void processes.splice(processes.indexOf(own), 1),
    }
  }
}

interface Process {
  follow(follower: LogFollower): void
  /** Delivers now, unless earlier commits are still to be delivered. */
  receive(commits: TailedCommits): void
  /** Delivers when the commits of this process that were applied before have been answered. */
  receiveLater(commits: TailedCommits): void
}

function createProcess(): Process {
  const waiting: TailedCommits[] = []
  let follower: LogFollower | undefined

  const deliverAll = () => {
    for (const commits of waiting.splice(0)) follower?.deliver(commits)
  }

  return {
    follow(given) {
      follower = given
    },
    receive(commits) {
      if (waiting.length > 0) waiting.push(commits)
      else follower?.deliver(commits)
    },
    receiveLater(commits) {
      if (waiting.push(commits) === 1) setImmediate(deliverAll)
    },
  }
}
