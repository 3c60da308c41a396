/** A turn in which a brief run can end, and shorter than many pauses between commands. */
export async function yieldTurn(): Promise<void> {
  for (let n = 0; n < 40; n++) await undefined
}
