import { useEffect } from 'preact/hooks'
import { useApp } from '../app-context.ts'
import type { Event } from '../client/resources.ts'
import { createReloadPace } from './reload-pace.ts'

/** Reads again after events of the live feed that concern the page, and after events that were missed. */
export function useReloadOn(concerns: (event: Event) => boolean, reload: () => void): void {
  const { feed } = useApp()
  useEffect(() => {
    const pace = createReloadPace(reload)
    const stop = feed.listen((event) => {
      if (concerns(event)) pace.reloadSoon()
    }, pace.reloadSoon)
    return () => {
      stop()
      pace.stop()
    }
  }, [feed, reload])
}

/** Reads again after events of a subject that only this page follows. */
export function useReloadOnSubject(subject: string, concerns: (event: Event) => boolean, reload: () => void): void {
  const { client } = useApp()
  useEffect(() => {
    const pace = createReloadPace(reload)
    const ending = new AbortController()
    const follow = async () => {
      const options = { signal: ending.signal, onSubscribed: pace.reloadSoon }
      for await (const item of client.subscribe(subject, options)) {
        if (item.type === 'gap' || concerns(item.event)) pace.reloadSoon()
      }
    }
    // The reads of the page say why the subject cannot be followed.
    follow().catch(() => undefined)
    return () => {
      ending.abort()
      pace.stop()
    }
  }, [client, subject, reload])
}
