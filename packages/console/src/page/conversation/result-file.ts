import { isFields, textOf } from './fold-parts.ts'
import type { ResultFile } from './message-parts.ts'

/** The file in place of which the event of a tool has a reference. */
export function resultFileIn(fields: Readonly<Record<string, unknown>>): ResultFile | undefined {
  const { isResultInFile, result } = fields
  const file = isResultInFile === true && isFields(result) && isFields(result.file) ? result.file : undefined
  const url = textOf(file?.url)
  if (url === undefined) return undefined
  return { url, mediaType: textOf(file?.mediaType) ?? 'application/json', name: textOf(file?.name) }
}
