import { isStoredText, type JsonText, type StoredText, toJsonText } from '@perdure/ports'
import type { PageItem } from './json-page.ts'

/** Like `jsonObject`, for texts that may still be in the store. */
export function jsonPieces(
  fields: object,
  texts: Readonly<Record<string, JsonText | StoredText | undefined>>,
): PageItem {
  const pieces: (string | StoredText)[] = []
  let text = toJsonText(fields).slice(0, -1)
  for (const [name, value] of Object.entries(texts)) {
    if (value === undefined) continue
    text += `${pieces.length === 0 && text === '{' ? '' : ','}${JSON.stringify(name)}:`
    if (isStoredText(value)) {
      pieces.push(text, value)
      text = ''
    } else text += value
  }
  return pieces.length === 0 ? (`${text}}` as JsonText) : [...pieces, `${text}}`]
}
