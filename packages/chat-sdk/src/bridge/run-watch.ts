import type { PerdureClient } from '@perdure/client'
import type { Callers } from './callers.ts'
import { SESSION_PREFIX } from './chat-names.ts'

/**
 * Wakes the follower of a run when the wait of the run ends, whoever has caused it: a decision in the console or over the
 * API, an expiry, an abort, or the end of the turn before. Exists only in memory: after a crash, `wakeAll` begins again.
 */
export interface RunWatch {
  /**
   * Watches a run until its wait ends. A run that is watched already stays so.
   *
   * @param lastEventId the id of the last event that its follower has seen
   */
  watch(client: PerdureClient, runId: string, lastEventId: string | undefined): void
  /** Wakes the followers of all runs of chats that have not ended. */
  wakeAll(): Promise<void>
}

/** Later runs are left to the timers of their followers. */
const MAX_WATCHED = 1_000

/** A wake can come before the wait of the follower is stored. */
const REPEATED_AFTER_MS = 500

const ENDS_WAIT: ReadonlySet<string> = new Set([
  ...['run.resumed', 'run.started', 'run.retrying', 'run.completed', 'run.failed', 'run.aborted'],
])

export function createRunWatch(callers: () => Promise<Callers>, agentId: string): RunWatch {
  const watched = new Set<string>()
  /** The events that have ended the last waits of the latest runs. */
  const ended = new Map<string, string>()
  const noteEnd = (runId: string, eventId: string) => {
    ended.set(runId, eventId)
    const [oldest = runId] = ended.keys()
    if (ended.size > MAX_WATCHED) ended.delete(oldest)
  }

  const untilWaitEnds = async (client: PerdureClient, runId: string, lastEventId: string | undefined) => {
    for await (const { type, eventId } of client.runs.follow(runId, { lastEventId, onGap: () => undefined })) {
      if (!ENDS_WAIT.has(type)) continue
      noteEnd(runId, eventId)
      return true
    }
    return false
  }

  const wakeAtEnd = async (client: PerdureClient, runId: string, lastEventId: string | undefined): Promise<void> => {
    const hasEnded = await untilWaitEnds(client, runId, lastEventId)
    const wake = async () => (await callers()).wake(runId)
    if (hasEnded) {
      await wake()
      await new Promise((resolve) => setTimeout(resolve, REPEATED_AFTER_MS).unref())
    }
    // Before the second wake, after which the follower may watch the run again.
    watched.delete(runId)
    if (hasEnded) await wake()
  }

  return {
    watch(client, runId, lastEventId = ended.get(runId)) {
      if (watched.has(runId) || watched.size >= MAX_WATCHED) return
      watched.add(runId)
      ended.delete(runId)
      // If the server stops or the storage fails, a timer wakes the follower.
      wakeAtEnd(client, runId, lastEventId).catch(() => watched.delete(runId))
    },
    async wakeAll() {
      const { bridge, wake } = await callers()
      // In the order in which a run passes through them: one that continues meanwhile is in a later list.
      for (const status of ['suspended', 'queued', 'running'] as const) {
        for await (const { id, sessionId } of bridge().runs.list({ agentId, status })) {
          if (sessionId?.startsWith(SESSION_PREFIX)) await wake(id)
        }
      }
    },
  }
}
