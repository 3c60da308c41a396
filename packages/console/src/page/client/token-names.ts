import type { PerdureClient } from '@perdure/client'
import { createStore, type Store } from './store.ts'

/** The names of tokens by their ids. */
export interface TokenNames {
  readonly names: Store<ReadonlyMap<string, string>>
  /** Reads the names with the first call. @param mayList whether the session may see tokens other than its own */
  read(mayList: boolean): void
}

export function createTokenNames(clientOf: () => PerdureClient): TokenNames {
  const names = createStore<ReadonlyMap<string, string>>(new Map())
  let isRead = false
  const readAll = async (mayList: boolean) => {
    const { tokens } = clientOf()
    // Ids stay in place of the names that cannot be read.
    const own = await tokens.self().catch(() => undefined)
    const others = mayList ? await tokens.list({ limit: 200 }).catch(() => undefined) : undefined
    const known = [...(others?.items ?? []), ...(own === undefined ? [] : [own])]
    names.set(new Map(known.map(({ id, name }) => [id, name])))
  }
  return {
    names,
    read(mayList) {
      if (isRead) return
      isRead = true
      void readAll(mayList)
    },
  }
}
