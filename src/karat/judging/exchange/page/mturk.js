// Shows follow-up questions where they are asked, and measures how long each answer takes.
(function () {
  "use strict";
  // This clock never goes back, unlike the time of day.
  var last = performance.now();
  var shown = "";

  function chosen(block, name) {
    var inputs = block.querySelectorAll("input");
    return Array.prototype.filter
      .call(inputs, function (input) {
        return input.name === name && (input.checked || input.type === "hidden");
      })
      .map(function (input) {
        return input.value;
      });
  }

  function isAsked(block, question) {
    var number = block.dataset.pair;
    var when = question.dataset.when.split(" ");
    var answer = chosen(block, "answer_" + number)[0];
    if (!answer || (question.dataset.when && when.indexOf(answer) < 0)) return false;
    if (!question.dataset.after) return true;
    var parts = question.dataset.after.split(".");
    return chosen(block, "details_" + parts[0] + "_" + number).indexOf(parts[1]) >= 0;
  }

  function refresh(block) {
    block.querySelectorAll("fieldset[data-when]").forEach(function (question) {
      var asked = isAsked(block, question);
      var inputs = question.querySelectorAll("input, textarea");
      question.hidden = !asked;
      question.disabled = !asked;
      if (!asked) {
        inputs.forEach(function (input) {
          if (input.type === "checkbox" || input.type === "radio") input.checked = false;
          else input.value = "";
        });
      }
      // A group of boxes has no "required" of its own: its first box carries the message.
      var needed = asked && question.dataset.required === "yes";
      var some = question.querySelector("input:checked");
      if (inputs[0].type === "checkbox") {
        inputs[0].setCustomValidity(needed && !some ? "Please check at least one." : "");
      } else {
        inputs.forEach(function (input) {
          input.required = needed;
        });
      }
    });
  }

  function measure(block) {
    var now = performance.now();
    var number = block.dataset.pair;
    block.querySelector("[name=seconds_" + number + "]").value = (now - last) / 1000;
    block.querySelector("[name=at_" + number + "]").value = Date.now() / 1000;
    last = now;
  }

  document.querySelectorAll("[data-pair]").forEach(function (block) {
    // Tasks with fewer pairs than others leave the last places empty.
    if (!block.dataset.image) {
      block.remove();
      return;
    }
    // Captions of one image stand below it together.
    if (document.body.querySelector("[data-layout=grid]") && block.dataset.image === shown) {
      block.querySelector("figure").hidden = true;
    }
    shown = block.dataset.image;
    block.addEventListener("change", function (event) {
      if (event.target.dataset.box) {
        var code = event.target.checked ? event.target.dataset.box : event.target.dataset.otherwise;
        block.querySelector("[name=answer_" + block.dataset.pair + "]").value = code;
      }
      if (event.target.dataset.box || event.target.name.indexOf("answer_") === 0) measure(block);
      refresh(block);
    });
    refresh(block);
  });
})();
