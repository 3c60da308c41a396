/** The notice at the top of every derived page. */
const NOTICE = '<!-- Derived from the tables of @perdure/protocol by `pnpm derive`: edit those, not this. -->'

export const page = (title: string, ...parts: readonly string[]): string =>
  `${[NOTICE, `# ${title}`, ...parts].join('\n\n')}\n`

export const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

export const codes = (texts: readonly string[]): string => texts.map(code).join(', ')

/** Formats a table; omits columns in which every cell is empty. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = heads.map((_, column) => rows.some((row) => row[column] !== ''))
  const line = (cells: readonly string[]) =>
    `| ${cells
      .filter((_, column) => kept[column])
      .map(escapeCell)
      .join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

const escapeCell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
