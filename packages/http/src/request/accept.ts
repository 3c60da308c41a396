/** Whether an Accept header names `text/event-stream` explicitly; wildcards do not count. */
export const acceptsEventStream = (header: string | undefined): boolean => accepts(header, 'text/event-stream')

/** Whether an Accept header names `text/html` explicitly, as browsers do; wildcards do not count. */
export const acceptsHtml = (header: string | undefined): boolean => accepts(header, 'text/html')

function accepts(header: string | undefined, wanted: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === wanted && !parameters.some((parameter) => /^q=0(\.0{1,3})?$/.test(parameter))
  })
}
