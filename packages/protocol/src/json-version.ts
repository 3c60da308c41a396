import { type PatchRefusal, patchDocument, revert, sizeOfDocument } from './json-patch.ts'
import { copyInAdvance, documentOf, isCopied, type PatchedDocument } from './patched-document.ts'
import type { Change } from './patching.ts'

/**
 * A version of a JSON document. A patch makes another version and changes none. The versions share one document in memory, which
 * is changed in place, so a short patch of a long document takes as long as the patch. Versions before and after it differ by a
 * list of changes; reading one of them makes or takes back the changes in between.
 */
export interface JsonVersion {
  /**
   * The document, which never changes afterwards: the next patch copies the objects and lists that it changes. A member that a
   * withdrawn patch had removed may be the last one of its object.
   */
  value(): unknown
  /** For `JSON.stringify`: the document, which later patches do change. */
  toJSON(): unknown
  /** Size of the document; infinite if the document is beyond `PATCH_LIMITS`. */
  bytes(): number
  /** The version after the patch. All operations apply, or none. */
  patched(patch: unknown): { readonly ok: true; readonly version: JsonVersion } | PatchRefusal
}

/** @param value a JSON value that the caller does not change later */
export const createJsonVersion = (value: unknown): JsonVersion => versionOf({ holds: { document: documentOf(value) } })

interface Node {
  holds: Held
  /** The document, once a caller has read it. */
  read?: { readonly value: unknown }
  bytes?: number
}

/** The document, or how to get from a neighbouring version to this one. */
type Held = { readonly document: PatchedDocument } | { readonly neighbor: Node; readonly changes: readonly Change[] }

const versionOf = (node: Node): JsonVersion => ({
  value: () => readOnce(node).value,
  toJSON: () => (node.read ?? documentIn(node)).value,
  bytes: () => bytesOf(node),
  patched(patch) {
    const document = documentIn(node)
    const patched = patchDocument(document, bytesOf(node), patch)
    if (!patched.ok) return patched
    const next: Node = { holds: { document }, bytes: patched.bytes }
    leave(node, next, patched.undo)
    // Otherwise, a version that is kept for long would keep every later change. One copy costs less than the changes before it.
    const maxKept = Math.max(MIN_KEPT, document.copied)
    if (document.kept > maxKept / 2) copyInAdvance(document, patched.undo.length)
    if (document.kept > maxKept && (isCopied(document) || document.kept > 2 * maxKept)) readOnce(next)
    return { ok: true, version: versionOf(next) }
  },
})

const MIN_KEPT = 1_000

const bytesOf = (node: Node): number => {
  node.bytes ??= sizeOfDocument((node.read ?? documentIn(node)).value)
  return node.bytes
}

function readOnce(node: Node): { readonly value: unknown } {
  if (node.read === undefined) {
    const document = documentIn(node)
    Object.assign(document, documentOf(document.value))
    node.read = { value: document.value }
  }
  return node.read
}

/** The shared document in this version. */
function documentIn(node: Node): PatchedDocument {
  const path: { readonly to: Node; readonly changes: readonly Change[] }[] = []
  let from = node
  while ('neighbor' in from.holds) {
    path.push({ to: from, changes: from.holds.changes })
    from = from.holds.neighbor
  }
  const { document } = from.holds
  for (const { to, changes } of path.reverse()) {
    to.holds = { document }
    leave(from, to, revert(document, changes))
    from = to
  }
  return document
}

/** The document is in the version `to` from now on. */
function leave(node: Node, to: Node, changes: readonly Change[]): void {
  node.holds = node.read === undefined ? { neighbor: to, changes } : { document: documentOf(node.read.value) }
}
