/** Flat, JSON-safe fields. Never secrets, never user data. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Port. Each call writes one line. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  /** Logs `error` with its stack and causes. */
  error(message: string, error: unknown, fields?: LogFields): void
}
