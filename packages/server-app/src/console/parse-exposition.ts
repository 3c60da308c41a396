/** One series of the text exposition format. */
export interface ExposedSeries {
  /** With the suffix of a histogram, such as `_bucket`. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Parses the text exposition format, version 0.0.4. Comments and unknown lines are skipped. */
export const parseExposition = (text: string): readonly ExposedSeries[] =>
  text.split('\n').flatMap((line) => {
    const valueAt = line.lastIndexOf(' ')
    if (valueAt <= 0 || line.startsWith('#')) return []
    const series = line.slice(0, valueAt)
    const labelsAt = series.indexOf('{')
    const value = line.slice(valueAt + 1)
    return [
      {
        name: labelsAt === -1 ? series : series.slice(0, labelsAt),
        labels: labelsAt === -1 ? {} : labelsOf(series.slice(labelsAt + 1, -1)),
        value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
      },
    ]
  })

/** Pairs such as `agent="echo",status="failed"`. */
function labelsOf(text: string): Readonly<Record<string, string>> {
  const labels: [string, string][] = []
  for (let at = 0; ; ) {
    const equals = text.indexOf('="', at)
    if (equals === -1) return Object.fromEntries(labels)
    const name = text.slice(at, equals)
    let value = ''
    for (at = equals + 2; at < text.length && text[at] !== '"'; at++) {
      if (text[at] === '\\') value += text[++at] === 'n' ? '\n' : (text[at] ?? '')
      else value += text[at]
    }
    labels.push([name, value])
    at += 2
  }
}
