const KIBIBYTE = 1_024
const MEBIBYTE = 1_048_576

/** A size such as `1.5 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < KIBIBYTE) return `${bytes} bytes`
  if (bytes < MEBIBYTE) return `${Math.round(bytes / KIBIBYTE).toLocaleString()} KiB`
  const mebibytes = bytes / MEBIBYTE
  const [value, unit] = mebibytes < 1_024 ? [mebibytes, 'MiB'] : [mebibytes / 1_024, 'GiB']
  return `${value.toLocaleString(undefined, { maximumFractionDigits: 1 })} ${unit}`
}
