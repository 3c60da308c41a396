import { jsonPageParts, type PageItem } from './json-page.ts'

/** A page as it is sent. */
export async function renderedPage(items: readonly PageItem[], nextCursor: string | null = null): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const part of jsonPageParts({ items, nextCursor })) {
    parts.push(typeof part === 'string' ? new TextEncoder().encode(part) : part)
  }
  return Buffer.concat(parts).toString()
}

/** The items of a page as its reader parses them. */
export const parsedItems = async (items: readonly PageItem[]) => JSON.parse(await renderedPage(items)).items
