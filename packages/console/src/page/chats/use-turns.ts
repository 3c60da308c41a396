import { useCallback, useRef } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import { failureOf } from '../client/failure.ts'
import type { RunSummary } from '../client/resources.ts'
import { useLoaded } from '../parts/use-loaded.ts'
import { withOlder } from '../runs/merge-run-pages.ts'

const PAGE = 20

/** The newest turns of a conversation; `older` reads those before. */
export function useTurns(agentId: string, sessionId: string) {
  const { client, notify } = useApp()
  const filter = { agentId, sessionId, include: 'input,result', limit: PAGE }
  const loaded = useLoaded(() => client.runs.list(filter), [agentId, sessionId])
  const { data, change, reload } = loaded
  const latest = useRef(0)
  latest.current = data?.items.length ?? 0
  /** Keeps the earlier turns that were read with the button above the conversation. */
  const refresh = useCallback(async () => {
    if (latest.current <= PAGE) return reload()
    // The turns stay as they are until the next change if this fails.
    const fresh = await client.runs.list(filter).catch(() => undefined)
    if (fresh !== undefined) change((before) => withOlder(fresh, before))
  }, [reload])
  const older = async (cursor: string) => {
    try {
      const next = await client.runs.list({ ...filter, cursor })
      change(({ items }) => ({ items: [...items, ...next.items], nextCursor: next.nextCursor }))
    } catch (error) {
      notify(failureOf(error).message, 'failed')
    }
  }
  return { ...loaded, refresh, older }
}

/** What the conversation shows, oldest first: neither children of runs nor turns that others have replaced. */
export const shownTurns = (runs: readonly RunSummary[]): readonly RunSummary[] =>
  runs.filter(({ parentRunId, withdrawnBy }) => parentRunId === undefined && withdrawnBy === undefined).toReversed()
