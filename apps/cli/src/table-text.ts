/** Columns as wide as their widest cell, two spaces apart. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const text = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return `${text.map((line) => line.trimEnd()).join('\n')}\n`
}
