import {
  type BlobStore,
  type ByteRange,
  type FileFilter,
  type FileRecord,
  type FileStore,
  type Page,
  type PageQuery,
  perdureError,
  type Visibility,
} from '@perdure/ports'
import { oneChunk } from './file-bytes.ts'
import { type FileResource, toFileResource } from './file-resource.ts'

export interface ReadFilesDeps {
  readonly files: FileStore
  readonly blobs: BlobStore
}

/** A file whose content can be read once, as a whole or in part. */
export interface OpenFile {
  readonly file: FileRecord
  /**
   * Resolves once the first bytes are read, so that an answer begins only when there is a content. The iteration throws
   * if fewer bytes are stored than the file has.
   *
   * @throws PerdureError `storage-unavailable` if the content cannot be found or read
   */
  read(range?: ByteRange): Promise<AsyncIterable<Uint8Array>>
}

/** Reads files for the API. Throws `file-not-found` for a file that the caller cannot see. */
export interface ReadFiles {
  list(filter: FileFilter, page: PageQuery, visibility: Visibility): Promise<Page<FileResource>>
  get(id: string, visibility: Visibility): Promise<FileResource>
  open(id: string, visibility: Visibility): Promise<OpenFile>
}

export function createReadFiles({ files, blobs }: ReadFilesDeps): ReadFiles {
  return {
    async list(filter, page, visibility) {
      const { items, nextCursor } = await files.list(filter, page, visibility)
      return { items: items.map(toFileResource), nextCursor }
    },
    get: async (id, visibility) => toFileResource(await findFile(files, id, visibility)),
    async open(id, visibility) {
      const file = await findFile(files, id, visibility)
      return {
        file,
        async read(range) {
          const content = await files.content(id)
          if (content !== undefined) return oneChunk(content.slice(range?.start, range?.end))
          const chunks = (await blobs.read(file.sha256, range)) ?? missing(file)
          return begun(whole(chunks, file, range === undefined ? file.size : range.end - range.start))
        },
      }
    },
  }
}

/** @throws PerdureError `file-not-found` */
export async function findFile(
  files: Pick<FileStore, 'find'>,
  id: string,
  visibility: Visibility,
): Promise<FileRecord> {
  const file = await files.find(id, visibility)
  if (file === undefined) throw perdureError('file-not-found')
  return file
}

function missing({ id }: FileRecord): never {
  throw perdureError('storage-unavailable', {
    message: `the content of ${id} is not in the store of the files`,
    hint: 'restore the folder or the bucket of storage.files; the servers of a cluster must share it',
  })
}

async function* whole(
  chunks: AsyncIterable<Uint8Array>,
  { id }: FileRecord,
  size: number,
): AsyncGenerator<Uint8Array, void, void> {
  let read = 0
  for await (const chunk of chunks) {
    read += chunk.length
    yield chunk
  }
  if (read === size) return
  throw perdureError('storage-unavailable', {
    message: `${read} of ${size} bytes of the content of ${id} are stored`,
    hint: 'restore the folder or the bucket of storage.files',
  })
}

/** Reads the first chunk. Its error is thrown at once. */
async function begun(chunks: AsyncGenerator<Uint8Array, void, void>): Promise<AsyncIterable<Uint8Array>> {
  const first = await chunks.next()
  let next = async (): Promise<IteratorResult<Uint8Array, void>> => {
    next = () => chunks.next()
    return first
  }
  return { [Symbol.asyncIterator]: () => ({ next: () => next(), return: () => chunks.return() }) }
}
