import { useEffect, useRef } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import { createReloadPace } from '../parts/reload-pace.ts'
import type { RunPage } from './merge-run-pages.ts'
import { applyEvent } from './run-changes.ts'

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
