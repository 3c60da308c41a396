/** Whether an Accept header names `text/event-stream` explicitly; wildcards do not count. */
export function acceptsEventStream(header: string | undefined): boolean {
  if (header === undefined) return false
  return header.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === 'text/event-stream' && !parameters.some((parameter) => /^q=0(\.0{1,3})?$/.test(parameter))
  })
}
