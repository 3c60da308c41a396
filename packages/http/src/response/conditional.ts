/** Whether the client has the content with this tag. A proxy that compresses an answer has made its tag weak. */
export const hasContent = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((one) => one.trim().replace(/^W\//, '') === etag || one.trim() === '*')

/** The first of the encodings that the client accepts: one that Accept-Encoding names without `q=0`. */
export function encodingFor<Encoding extends string>(
  acceptEncoding: string,
  offered: readonly Encoding[],
): Encoding | undefined {
  const accepted = new Set(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((one) => one.split(';').map((part) => part.trim()))
      .filter(([, ...params]) => !params.some((param) => /^q\s*=\s*0(?:\.0*)?$/.test(param)))
      .map(([name]) => name),
  )
  return offered.find((encoding) => accepted.has(encoding))
}
