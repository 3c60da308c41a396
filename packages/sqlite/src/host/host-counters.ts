export interface HostCounters {
  readonly transactions: number // group transactions begun
  readonly writes: number // write operations answered, including rejected operations
}
