import { EVERY_ROW, type FileRecord, perdureError, type RemoteFiles } from '@perdure/ports'
import type { ServiceCaller } from '../durable/service-caller.ts'
import { oneChunk, readBytes } from './file-bytes.ts'
import { fileIdOf, fileUrl } from './file-url.ts'
import { newFile } from './new-file.ts'
import type { ReadFiles } from './read-files.ts'
import { quotaExceeded } from './receive-file.ts'
import type { StoreDataUrlDeps } from './store-data-url.ts'

export interface NewFile {
  readonly mediaType: string
  readonly data: Uint8Array
  readonly name?: string
}

export interface WrittenFile {
  readonly id: string
  /** Path of the content on this server. */
  readonly url: string
  readonly mediaType: string
  readonly size: number
  readonly name?: string
}

/** The stored files that a run may use: those of its owner, and those of its session. */
export interface RunFiles {
  /**
   * Returns the content of a file. Not recorded, because the content of a stored file never changes. A file of another
   * server is loaded at each call, only from public addresses and the hosts of `files.allowHosts`.
   *
   * @param file the id of a file, or the URL that a message shows
   * @throws PerdureError `file-not-found`
   */
  read(file: string): Promise<Uint8Array>
  /**
   * Stores a file exactly once, without showing it. Durable, like `ctx.step`. The session of the run holds it; without a session, the run does.
   *
   * @throws PerdureError `step-failed` if the content is too large or of another type, and when the quota is used up
   */
  write(file: NewFile): Promise<WrittenFile>
}

export interface RunFilesDeps extends StoreDataUrlDeps {
  readonly readFiles: Pick<ReadFiles, 'open'>
  readonly remoteFiles: RemoteFiles
}

/** How long another server may take to send a file. */
const LOAD_MS = 30_000

/** `ctx.files`. */
export function createRunFiles(deps: RunFilesDeps, { run, signal, transact }: ServiceCaller): RunFiles {
  const { files, readFiles, receiveFile, remoteFiles, limits, basePath } = deps
  const { id: runId, owner, sessionId } = run

  const isUsable = async (file: FileRecord): Promise<boolean> =>
    file.owner === owner || (sessionId !== undefined && (await files.holders(file.id)).includes(sessionId))

  const load = async (url: string): Promise<Uint8Array> => {
    const within = { maxBytes: limits.maxBytes, signal: AbortSignal.any([signal, AbortSignal.timeout(LOAD_MS)]) }
    const loaded = await remoteFiles.load(url, within)
    signal.throwIfAborted()
    if ('bytes' in loaded) return loaded.bytes
    throw perdureError('file-not-found', { message: `${url.slice(0, 200)} cannot be loaded: ${loaded.error}` })
  }

  return {
    async read(file) {
      if (/^https?:/i.test(file)) return load(file)
      const id = fileIdOf(file)
      if (id === undefined) throw perdureError('file-not-found', { hint: 'pass the id or the URL of a stored file' })
      const opened = await readFiles.open(id, EVERY_ROW)
      if (!(await isUsable(opened.file))) throw perdureError('file-not-found')
      return readBytes(await opened.read())
    },
    write: ({ mediaType, data, name }) =>
      transact('files.write', async () => {
        const received = await receiveFile({ chunks: oneChunk(data), mediaType, owner })
        const { file, writes } = newFile(deps, received, { owner, name, sessionId, runId })
        const { id, size } = file
        return {
          writes,
          value: {
            ...{ id, url: fileUrl(basePath, id), mediaType: received.mediaType, size },
            ...(name === undefined ? {} : { name }),
          },
          refuse({ type }) {
            if (type === 'file.hold') return perdureError('session-not-found', { message: 'the session was deleted' })
            return type === 'file.keep' ? perdureError('run-not-active') : quotaExceeded(limits)
          },
        }
      }),
  }
}
