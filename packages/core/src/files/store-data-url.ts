import {
  type Digest,
  type FileRecord,
  type FileStore,
  perdureError,
  plusMs,
  sha256OfBytes,
  type UnitOfWork,
} from '@perdure/ports'
import { oneChunk } from './file-bytes.ts'
import { shownName } from './file-name.ts'
import { fileUrl } from './file-url.ts'
import { correctedTypeOf } from './media-type.ts'
import { type NewFileDeps, newFile } from './new-file.ts'
import { quotaExceeded, type ReceiveFile } from './receive-file.ts'
import { UPLOAD_TTL_MS } from './sweep-files.ts'

export interface StoreDataUrlDeps extends NewFileDeps {
  readonly files: Pick<FileStore, 'findSame' | 'holders'>
  readonly digest: Pick<Digest, 'startSha256'>
  readonly receiveFile: ReceiveFile
  readonly unitOfWork: UnitOfWork
  readonly basePath: string
}

export interface StoredUrl {
  readonly url: string
  readonly mediaType: string
}

/**
 * Stores the content of a `data:` URL as a file of the owner, and returns the URL of the file. A media type that the first
 * bytes contradict is corrected: a browser derives it from the name of a file alone. A content that the owner has with
 * this name and type is not stored again, so that a request which is refused or repeated leaves no further file behind.
 *
 * @throws PerdureError `validation-failed` for a malformed URL; `body-too-large`, `file-quota-exceeded`
 */
export type StoreDataUrl = (file: {
  readonly url: string
  readonly name?: string | undefined
  readonly owner: string
  /** A stored session, which holds the file from the beginning. */
  readonly sessionId?: string | undefined
}) => Promise<StoredUrl>

export function createStoreDataUrl(deps: StoreDataUrlDeps): StoreDataUrl {
  const { receiveFile, unitOfWork, limits, basePath } = deps
  return async ({ url, name: sentName, owner, sessionId }) => {
    const { bytes, mediaType } = parseDataUrl(url)
    const name = shownName(sentName)
    const known = await lastingFile(deps, bytes, { owner, name, mediaType: correctedTypeOf(mediaType, bytes) })
    if (known !== undefined && (await isHeldBy(deps, known, sessionId))) {
      return { url: fileUrl(basePath, known.id), mediaType: known.mediaType }
    }
    const received = await receiveFile({ chunks: oneChunk(bytes), mediaType, owner, isCorrected: true })
    const { file, writes } = newFile(deps, received, { owner, name, sessionId })
    const outcome = await unitOfWork.commit(writes)
    if (outcome.committed) return { url: fileUrl(basePath, file.id), mediaType: received.mediaType }
    throw outcome.conflict.type === 'file.hold' ? perdureError('session-not-found') : quotaExceeded(limits)
  }
}

/** The sweep deletes an upload that no session holds; a younger one lasts until the run has started. */
const REUSED_MS = UPLOAD_TTL_MS / 2

/** The file with this content that the owner already has, unless the sweep may delete it soon. */
async function lastingFile(
  { files, digest, clock }: StoreDataUrlDeps,
  bytes: Uint8Array,
  file: Pick<FileRecord, 'owner' | 'mediaType' | 'name'>,
): Promise<FileRecord | undefined> {
  const known = await files.findSame({ ...file, sha256: sha256OfBytes(digest, bytes), size: bytes.length })
  if (known === undefined || plusMs(known.createdAt, REUSED_MS) > clock.now()) return known
  return (await files.holders(known.id)).length > 0 ? known : undefined
}

/** Lets the session hold the file. False if the file or the session is gone meanwhile. */
async function isHeldBy(
  { unitOfWork }: StoreDataUrlDeps,
  { id, owner }: FileRecord,
  sessionId: string | undefined,
): Promise<boolean> {
  if (sessionId === undefined) return true
  return (await unitOfWork.commit([{ type: 'file.hold', sessionId, ids: [id], owner }])).committed
}

const DATA_URL = /^data:([^;,]{0,255})((?:;[^;,]{0,255}){0,8}),/i

function parseDataUrl(url: string): { readonly bytes: Uint8Array; readonly mediaType: string | undefined } {
  const match = DATA_URL.exec(url)
  if (match === null) throw malformed()
  const [head, type = '', parameters = ''] = match
  const mediaType = type === '' ? undefined : type
  try {
    return { bytes: decoded(url.slice(head.length), /;\s*base64$/i.test(parameters)), mediaType }
  } catch {
    throw malformed()
  }
}

function decoded(text: string, isBase64: boolean): Uint8Array {
  if (!isBase64) return new TextEncoder().encode(decodeURIComponent(text))
  const binary = atob(text.includes('%') ? decodeURIComponent(text) : text)
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}

const malformed = () =>
  perdureError('validation-failed', {
    message: 'the URL of a file part is not a valid data: URL',
    hint: 'send data:<media type>;base64,<content>, or the URL of a file from POST /files',
  })
