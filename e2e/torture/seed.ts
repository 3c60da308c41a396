/** Prints the seed of a run, so that it can be repeated. */
export function seedOf(): number {
  const seed = Number(process.env.E2E_SEED ?? Date.now() % 1_000_000)
  console.log(`seed ${seed} (set E2E_SEED to repeat)`)
  return seed
}
