/** First characters that make a spreadsheet interpret a cell as a formula or a command. */
const FORMULA = /^[=+\-@\t\r\0]/

/** One RFC 4180 record with its line end. A cell that looks like a formula is prefixed with an apostrophe. */
export const csvRow = (cells: readonly unknown[]): string => `${cells.map(toCell).join(',')}\r\n`

function toCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
