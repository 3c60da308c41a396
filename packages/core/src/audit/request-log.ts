import type { NewAuditEntry, RequestOrigin } from '@perdure/ports'

/** An entry that was committed with what it tells of. */
export interface Deed {
  readonly entry: NewAuditEntry
  /** Under which it is staged for the chain of another database. */
  readonly key?: string | undefined
}

/** Which entries the requests under way have committed by their deeds, until they are answered. */
export interface DeedBook {
  note(origin: RequestOrigin, deed: Deed): void
  /** The deeds of a request that is answered now. */
  take(origin: RequestOrigin): readonly Deed[]
  /** Whether the request that staged it is not answered yet. */
  isOpen(key: string): boolean
}

export function createDeedBook(): DeedBook {
  const byOrigin = new Map<RequestOrigin, Deed[]>()
  const open = new Set<string>()

  return {
    note(origin, deed) {
      const deeds = byOrigin.get(origin) ?? []
      byOrigin.set(origin, [...deeds, deed])
      if (deed.key !== undefined) open.add(deed.key)
    },
    take(origin) {
      const deeds = byOrigin.get(origin) ?? []
      byOrigin.delete(origin)
      for (const { key } of deeds) if (key !== undefined) open.delete(key)
      return deeds
    },
    isOpen: (key) => open.has(key),
  }
}
