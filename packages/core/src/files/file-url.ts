import { isFields } from '../fold/log-event.ts'

const FILE_ID = /^file_[0-9A-Za-z]{1,64}$/
const FILE_URL = /^\/(?:[^?#\\]*\/)?files\/(file_[0-9A-Za-z]{1,64})$/

/** The URL of a stored file in a message: a path of this server, so that a page loads it with the token that it has. */
export const fileUrl = (basePath: string, id: string): string => `${basePath}/files/${id}`

/** The id in the URL of a stored file, or the id itself; `undefined` for any other text. */
export const fileIdOf = (text: string): string | undefined =>
  FILE_ID.test(text) ? text : (FILE_URL.exec(text)?.[1] ?? undefined)

/** The ids of the stored files that the messages of a chat input show. */
export function fileIdsIn(input: unknown): readonly string[] {
  if (!isFields(input) || !Array.isArray(input.messages)) return []
  const parts = input.messages.filter(isFields).flatMap(({ content }) => (Array.isArray(content) ? content : []))
  const ids = parts.filter(isFields).flatMap(({ type, url }) => {
    const id = type === 'file' && typeof url === 'string' ? FILE_URL.exec(url)?.[1] : undefined
    return id === undefined ? [] : [id]
  })
  return [...new Set(ids)]
}
