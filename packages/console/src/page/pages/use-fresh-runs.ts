import { useEffect, useRef } from 'preact/hooks'
import type { RunSummary } from '../api/resources.ts'
import { useApp } from '../app-context.ts'
import { createReloadPace } from '../parts/reload-pace.ts'
import { applyEvent } from './run-changes.ts'

interface RunPage {
  readonly items: RunSummary[]
  readonly nextCursor: string | null
}

/** The first page as it is now, and the rows after it that are on the page already. */
export function withOlder(fresh: RunPage, before: RunPage): RunPage {
  const last = fresh.items.at(-1)
  if (last === undefined || fresh.nextCursor === null) return fresh
  const shown = new Set(fresh.items.map(({ id }) => id))
  const older = before.items.filter(({ id, createdAt }) => createdAt <= last.createdAt && !shown.has(id))
  return { items: [...fresh.items, ...older], nextCursor: before.nextCursor }
}

/** Applies events to the rows, and reads the list again after the event of a run that it does not have. */
export function useFreshRuns(change: (update: (page: RunPage) => RunPage) => void, reload: () => unknown): void {
  const { feed } = useApp()
  const latest = useRef(reload)
  latest.current = reload
  useEffect(() => {
    const pace = createReloadPace(() => latest.current())
    const stop = feed.listen((event) => {
      if (!event.type.startsWith('run.')) return
      change((page) => {
        if (!page.items.some(({ id }) => id === event.runId)) {
          pace.reloadSoon()
          return page
        }
        return { ...page, items: page.items.map((run) => (run.id === event.runId ? applyEvent(run, event) : run)) }
      })
    }, pace.reloadSoon)
    return () => {
      stop()
      pace.stop()
    }
  }, [feed, change])
}
