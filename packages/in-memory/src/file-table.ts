import type { FileRecord, FileStore } from '@perdure/ports'
import { createRecordTable } from './record-table.ts'
import { isVisible } from './row-visibility.ts'
import type { SessionBelongings } from './session-deletion.ts'
import type { RunBelongings } from './thread-deletion.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

/** Whether a session or a run exists, which can then hold files. */
interface Holders {
  hasSession(id: string): boolean
  hasRun(id: string): boolean
}

export function createFileTable({
  hasSession,
  hasRun,
}: Holders): Table<FileStore, WritesOf<'file'>> & SessionBelongings & RunBelongings {
  const files = createRecordTable<FileRecord>()
  const contents = new Map<string, Uint8Array>()
  const holders = new Map<string, ReadonlySet<string>>()

  const keepers = new Map<string, ReadonlySet<string>>()

  const isHeld = (id: string) => holders.has(id) || keepers.has(id)
  const usedBy = (owner: string) =>
    files.all().reduce((bytes, file) => (file.owner === owner ? bytes + file.size : bytes), 0)

  const remove = (id: string, undo: UndoLog) => {
    files.delete(id, undo)
    putEntry(contents, [id, undefined], undo)
    putEntry(holders, [id, undefined], undo)
    putEntry(keepers, [id, undefined], undo)
  }

  /** Releases what `holder` holds, and removes the files that nothing holds any more. */
  const release = (held: Map<string, ReadonlySet<string>>, holder: string, undo: UndoLog) => {
    for (const [id, by] of [...held]) {
      if (!by.has(holder)) continue
      const others = [...by].filter((other) => other !== holder)
      putEntry(held, [id, others.length === 0 ? undefined : new Set(others)], undo)
      if (!isHeld(id)) remove(id, undo)
    }
  }

  return {
    store: {
      find: async (id, visibility) => {
        const file = files.get(id)
        return file !== undefined && isVisible(file, visibility) ? file : undefined
      },
      content: async (id) => contents.get(id)?.slice(),
      holders: async (id) => [...(holders.get(id) ?? [])].sort(),
      holdingRuns: async (id, limit) => [...(keepers.get(id) ?? [])].sort().slice(0, limit),
      list: async ({ sessionId }, page, visibility) =>
        files.page(
          page,
          (file) =>
            isVisible(file, visibility) && (sessionId === undefined || (holders.get(file.id)?.has(sessionId) ?? false)),
        ),
      usage: async (owner) => ({
        files: files.all().filter((file) => file.owner === owner).length,
        bytes: usedBy(owner),
      }),
      findSame: async ({ owner, sha256, size, mediaType, name }) =>
        files
          .all()
          .filter((file) => file.owner === owner && file.sha256 === sha256 && file.size === size)
          .findLast((file) => file.mediaType === mediaType && file.name === name),
      inUse: async (hashes) => {
        const used = new Set(files.all().flatMap(({ id, sha256 }) => (contents.has(id) ? [] : [sha256])))
        return [...new Set(hashes)].filter((hash) => used.has(hash)).sort()
      },
    },
    appliers: {
      'file.insert'({ type, file, content, ownerBytes }, { undo }) {
        if (ownerBytes !== undefined && usedBy(file.owner) + file.size > ownerBytes) return { type }
        const current = files.get(file.id)
        if (current !== undefined) return { type, current }
        files.put(file, undo)
        if (content !== undefined) putEntry(contents, [file.id, bytesOf(content)], undo)
        return 1
      },
      'file.hold'({ type, sessionId, ids, owner }, { undo }) {
        if (!hasSession(sessionId)) return { type }
        let count = 0
        for (const id of ids) {
          if (files.get(id)?.owner !== owner) return { type, missing: id }
          const held = holders.get(id) ?? new Set()
          if (held.has(sessionId)) continue
          putEntry(holders, [id, new Set([...held, sessionId])], undo)
          count += 1
        }
        return count
      },
      'file.keep'({ type, runId, ids, owner }, { undo }) {
        if (!hasRun(runId)) return { type }
        let count = 0
        for (const id of ids) {
          const file = files.get(id)
          if (owner !== undefined && file?.owner !== owner) continue
          if (file === undefined) return { type, missing: id }
          const kept = keepers.get(id) ?? new Set()
          if (kept.has(runId)) continue
          putEntry(keepers, [id, new Set([...kept, runId])], undo)
          count += 1
        }
        return count
      },
      'file.delete'({ type, id }, { undo }) {
        const current = files.get(id)
        if (current === undefined || isHeld(id)) return { type, current }
        remove(id, undo)
        return 1
      },
      'file.prune'({ before, limit }, { undo }) {
        const old = files.all().filter(({ id, createdAt }) => createdAt < before && !isHeld(id))
        const pruned = old.slice(0, limit)
        for (const { id } of pruned) remove(id, undo)
        return pruned.length
      },
    },
    removeSession: (sessionId, undo) => release(holders, sessionId, undo),
    removeRun: (runId, undo) => release(keepers, runId, undo),
  }
}

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
