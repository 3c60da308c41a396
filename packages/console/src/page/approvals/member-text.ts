import { withVisibleOrder } from '../parts/visible-order.ts'

/** A value of a member as text: without quotes, unless it would look like another value, or like none. */
export function memberText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  const isPlain = value !== '' && value.trim() === value && !isJson(value)
  return withVisibleOrder(isPlain ? value : JSON.stringify(value))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
