import type { Page } from '@perdure/client'
import type { ComponentChildren } from 'preact'
import { useApp } from '../app-context.ts'
import { failureOf } from '../client/failure.ts'
import { Shown } from './basics.tsx'
import { type Loaded, useLoaded } from './use-loaded.ts'

/** Reads the first page of a list; `more` appends the next one. */
export function usePages<Item>(read: (cursor: string | undefined) => Promise<Page<Item>>, keys: readonly unknown[]) {
  const { notify } = useApp()
  const loaded = useLoaded(() => read(undefined), keys)
  const more = async (cursor: string) => {
    try {
      const next = await read(cursor)
      loaded.change(({ items }) => ({ items: [...items, ...next.items], nextCursor: next.nextCursor }))
    } catch (error) {
      notify(failureOf(error).message, 'failed')
    }
  }
  return { ...loaded, more }
}

/** The items of a list, with a button for older ones. */
export function Paged<Item>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<Page<Item>> & { readonly more: (cursor: string) => Promise<void> }
  readonly children: (items: readonly Item[]) => ComponentChildren
}) {
  return (
    <Shown loaded={loaded}>
      {({ items, nextCursor }) => (
        <>
          {children(items)}
          {nextCursor === null ? null : (
            <p class="pager">
              <button type="button" onClick={() => void loaded.more(nextCursor)}>
                Show more
              </button>
            </p>
          )}
        </>
      )}
    </Shown>
  )
}
