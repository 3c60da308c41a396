/** A round number that is at least this value: the top of an axis. */
export function roundTop(highest: number): number {
  if (!(highest > 0)) return 1
  const magnitude = 10 ** Math.floor(Math.log10(highest))
  const step = [1, 2, 5, 10].find((one) => one * magnitude >= highest) ?? 10
  return step * magnitude
}

/** The corners of a line; a gap in the values ends a line and begins another. */
export function linesOf(
  values: readonly (number | null)[],
  {
    width,
    height,
    top,
    length,
  }: { readonly width: number; readonly height: number; readonly top: number; readonly length: number },
): readonly string[] {
  const lines: string[][] = [[]]
  values.forEach((value, at) => {
    if (value === null) lines.push([])
    // The newest value is at the right edge, also while the hour is not full.
    else
      lines
        .at(-1)
        ?.push(
          `${round(width - ((values.length - 1 - at) / (length - 1)) * width)},${round(height - (value / top) * height)}`,
        )
  })
  return lines
    .filter((line) => line.length > 0)
    .map((line) => (line.length === 1 ? `${line[0]} ${line[0]}` : line.join(' ')))
}

const round = (value: number): number => Math.round(value * 10) / 10

const SI = [
  [1e9, ' G'],
  [1e6, ' M'],
  [1e3, ' k'],
] as const

/** A value with its unit: what the name of a metric ends with is its unit. */
export function valueText(metric: string, value: number): string {
  if (metric.endsWith('_bytes')) return `${plain(value / 1_048_576)} MiB`
  if (metric.endsWith('_seconds')) return value < 1 ? `${plain(value * 1_000)} ms` : `${plain(value)} s`
  const [factor, prefix] = SI.find(([one]) => Math.abs(value) >= one) ?? [1, '']
  return `${plain(value / factor)}${prefix}`
}

const plain = (value: number): string => value.toLocaleString(undefined, { maximumSignificantDigits: 3 })
